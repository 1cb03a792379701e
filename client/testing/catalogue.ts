// Products and customers of the fake.

import { formatMicros } from "../../src/lib/money.ts";
import type * as Api from "../api-types.ts";
import { microsOf } from "./amounts.ts";
import { Refused } from "./refusal.ts";
import { type FakeState, timeOf } from "./state.ts";

export function createProduct(state: FakeState, body: Api.CreateProductBody): Api.Product {
  const id = state.newId("prd");
  const at = timeOf(state);
  const { name, description = null, price, currency = "USD", isActive = true } = body;
  const { askForName = false, askForAddress = false, askForPhoneNumber = false } = body;
  const product: Api.Product = {
    id,
    merchantId: state.merchantId,
    name,
    description,
    price: formatMicros(microsOf(price)),
    currency,
    image: null,
    signedImage: null,
    isActive,
    askForName,
    askForAddress,
    askForPhoneNumber,
    createdAt: at,
    updatedAt: at,
    deletedAt: null,
    checkoutUrl: `${state.origin}/buy/${id}`,
  };
  refuseImage(body);
  state.products.set(id, product);
  return product;
}

/** Deleted ones are not found; to a public key neither are those that are not for sale. */
export function productOf(state: FakeState, id: string, isPublic: boolean): Api.Product {
  const product = state.products.get(id);
  if (product === undefined || product.deletedAt !== null || (isPublic && !product.isActive))
    throw new Refused("PRODUCT_NOT_FOUND");
  return product;
}

export function updateProduct(state: FakeState, id: string, body: Api.UpdateProductBody): Api.Product {
  const product = productOf(state, id, false);
  refuseImage(body);
  const { price, image: _, ...given } = body;
  return change(state, product, {
    ...given,
    ...(price === undefined ? {} : { price: formatMicros(microsOf(price)) }),
  });
}

export function deleteProduct(state: FakeState, id: string): Api.Product {
  const product = productOf(state, id, false);
  product.deletedAt = timeOf(state);
  product.updatedAt = product.deletedAt;
  return product;
}

function refuseImage({ image }: { readonly image?: string | null | undefined }): void {
  if (typeof image === "string") throw new Error("the fake does not do images of products");
}

/** With the email of a known customer, changes that one. */
export function upsertCustomer(state: FakeState, body: Api.UpsertCustomerBody) {
  const known = body.email == null ? undefined : customerWithEmail(state, body.email);
  if (known !== undefined) return { status: 200, body: change(state, known, body) };
  return { status: 201, body: newCustomer(state, body) };
}

export function newCustomer(state: FakeState, given: Api.UpsertCustomerBody): Api.Customer {
  const at = timeOf(state);
  const { email = null, name = null, address = null, phoneNumber = null, metadata = null } = given;
  const personal = { email, name, address, phoneNumber, metadata: metadata === null ? null : { ...metadata } };
  const id = state.newId("cus");
  const customer = { id, merchantId: state.merchantId, ...personal, createdAt: at, updatedAt: at, deletedAt: null };
  state.customers.set(id, customer);
  return customer;
}

export function customerWithEmail(state: FakeState, email: string): Api.Customer | undefined {
  const key = email.toLowerCase();
  return [...state.customers.values()].find(
    (customer) => customer.deletedAt === null && customer.email?.toLowerCase() === key,
  );
}

export function customerOf(state: FakeState, id: string): Api.Customer {
  const customer = state.customers.get(id);
  if (customer === undefined || customer.deletedAt !== null) throw new Refused("CUSTOMER_NOT_FOUND");
  return customer;
}

export function updateCustomer(state: FakeState, id: string, body: Api.UpdateCustomerBody): Api.Customer {
  const customer = customerOf(state, id);
  const holder = body.email == null ? undefined : customerWithEmail(state, body.email);
  if (holder !== undefined && holder.id !== id) throw new Refused("CUSTOMER_EMAIL_EXISTS", { customerId: holder.id });
  return change(state, customer, body);
}

/** Keeps the row for its invoices, without the person. */
export function deleteCustomer(state: FakeState, id: string): Api.Customer {
  const customer = customerOf(state, id);
  change(state, customer, { email: null, name: null, address: null, phoneNumber: null, metadata: null });
  customer.deletedAt = timeOf(state);
  customer.updatedAt = customer.deletedAt;
  return customer;
}

/** Sets what is given and differs; a change without effect leaves `updatedAt`. */
export function change<T extends { updatedAt: string }>(state: FakeState, row: T, given: object): T {
  const differing = Object.entries(given).filter(
    ([name, value]) => value !== undefined && JSON.stringify(Reflect.get(row, name)) !== JSON.stringify(value),
  );
  if (differing.length === 0) return row;
  Object.assign(row, Object.fromEntries(differing), { updatedAt: timeOf(state) });
  return row;
}
