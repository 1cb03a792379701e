import { PRODUCT } from "../shop.js";

export default function Page() {
  return (
    <>
      <h1>{PRODUCT.name}</h1>
      <p>
        {Number(PRODUCT.amount).toFixed(2)} {PRODUCT.currency}
      </p>
      <form method="post" action="/orders">
        <button type="submit">Pay with crypto</button>
      </form>
    </>
  );
}
