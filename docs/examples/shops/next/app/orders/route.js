// Handles the button: creates an order and its invoice, and redirects to the checkout.
import { findOrder, invoiceOf, newOrder } from "../../shop.js";

export async function POST(request) {
  const again = new URLSearchParams(await request.text()).get("order"); // the "Try again" button sends the order's id
  const order = (again === null ? undefined : findOrder(again)) ?? newOrder();
  try {
    const { checkoutUrl } = await invoiceOf(order);
    return Response.redirect(checkoutUrl, 303);
  } catch (error) {
    console.error(error);
    return new Response(tryAgain(order), { status: 503, headers: { "content-type": "text/html; charset=utf-8" } });
  }
}

/** A page as text, because a route handler cannot answer with React. */
function tryAgain({ id }) {
  return `<!doctype html><html lang="en"><title>Coffee</title>
    <h1>Not started: our payment service could not be reached</h1><p>Order ${id}</p>
    <form method="post" action="/orders"><input type="hidden" name="order" value="${id}"><button>Try again</button></form></html>`;
}
