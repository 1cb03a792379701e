import { findOrder } from "../../../../shop.js";

export async function GET(_request, { params }) {
  const order = findOrder((await params).id);
  if (order === undefined) return Response.json({ error: "no such order" }, { status: 404 });
  return Response.json({ id: order.id, status: order.status });
}
