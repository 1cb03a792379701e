import { notFound } from "next/navigation";
import { connection } from "next/server";
import { findOrder, STATES } from "../../../shop.js";

export default async function Page({ params }) {
  await connection(); // always the current state, never a cached page
  const order = findOrder((await params).id);
  if (order === undefined) notFound();
  const { id, status, checkout } = order;
  return (
    <>
      <h1>
        {checkout === null ? "Not started: our payment service could not be reached" : (STATES[status] ?? status)}
      </h1>
      <p>Order {id}</p>
      {checkout === null ? (
        <form method="post" action="/orders">
          <input type="hidden" name="order" value={id} />
          <button type="submit">Try again</button>
        </form>
      ) : (
        <a href={checkout}>To the payment</a>
      )}
    </>
  );
}
