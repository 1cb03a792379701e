// Products and customers of the fake.
import {
  type CustomerChange,
  type CustomerRecord,
  changedColumns,
  differingFields,
  NOTHING_PERSONAL,
} from "../../src/commerce/customers/customer.ts";
import { isShownTo, type Product, productFacts, withProductFields } from "../../src/commerce/products/product.ts";
import { emailKeyOf } from "../../src/lib/email.ts";
import { changedFacts } from "../../src/platform/audit/entry.ts";
import { Refused } from "./refusal.ts";
import type { Body } from "./requests.ts";
import type { FakeState } from "./state.ts";

export function createProduct(state: FakeState, { image, ...wanted }: Body<"createProduct">): Product {
  refuseImage(image);
  const nowMs = state.now();
  const product: Product = {
    ...wanted,
    id: state.newId("prd"),
    merchantId: state.merchant.id,
    description: wanted.description ?? null,
    image: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    deletedAtMs: null,
  };
  state.products.set(product.id, product);
  return product;
}

/** Deleted products are not found; with a public key, neither are products that are not for sale. */
export function productOf(state: FakeState, id: string, isPublic: boolean): Product {
  const product = state.products.get(id);
  if (product === undefined || !isShownTo(product, isPublic)) throw new Refused({ code: "PRODUCT_NOT_FOUND" });
  return product;
}

export function updateProduct(state: FakeState, id: string, { image, ...given }: Body<"updateProduct">): Product {
  const product = productOf(state, id, false);
  refuseImage(image);
  const after = withProductFields(product, given);
  const { after: changed } = changedFacts(productFacts(product), productFacts(after));
  return Object.keys(changed).length === 0 ? product : putProduct(state, product, after);
}

export function deleteProduct(state: FakeState, id: string): Product {
  const product = productOf(state, id, false);
  return putProduct(state, product, { ...product, deletedAtMs: state.now() });
}

function putProduct(state: FakeState, before: Product, after: Product): Product {
  const product = { ...after, updatedAtMs: laterThan(state, before) };
  state.products.set(product.id, product);
  return product;
}

function refuseImage(image: string | null | undefined): void {
  if (typeof image === "string") throw new Error("the fake does not do images of products");
}

/** Creates a customer, or changes the one with this email. */
export function upsertCustomer(state: FakeState, said: CustomerChange) {
  const known = said.email == null ? undefined : customerWithEmail(state, said.email);
  if (known !== undefined) return { status: 200, customer: changeCustomer(state, known, said) };
  const nowMs = state.now();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs, deletedAtMs: null };
  const of = { id: state.newId("cus"), merchantId: state.merchant.id };
  const customer: CustomerRecord = { ...of, ...changedColumns(NOTHING_PERSONAL, said), ...times };
  state.customers.set(customer.id, customer);
  return { status: 201, customer };
}

export function customerWithEmail(state: FakeState, email: string): CustomerRecord | undefined {
  const key = emailKeyOf(email);
  return [...state.customers.values()].find(({ deletedAtMs, emailKey }) => deletedAtMs === null && emailKey === key);
}

export function customerOf(state: FakeState, id: string): CustomerRecord {
  const customer = state.customers.get(id);
  if (customer === undefined || customer.deletedAtMs !== null) throw new Refused({ code: "CUSTOMER_NOT_FOUND" });
  return customer;
}

export function updateCustomer(state: FakeState, id: string, said: CustomerChange): CustomerRecord {
  const customer = customerOf(state, id);
  const holder = said.email == null ? undefined : customerWithEmail(state, said.email);
  if (holder !== undefined && holder.id !== id)
    throw new Refused({ code: "CUSTOMER_EMAIL_EXISTS", customerId: holder.id });
  return changeCustomer(state, customer, said);
}

/** Keeps the row for its invoices, without personal data. */
export function deleteCustomer(state: FakeState, id: string): CustomerRecord {
  const customer = customerOf(state, id);
  return putCustomer(state, customer, { ...customer, ...NOTHING_PERSONAL, deletedAtMs: state.now() });
}

function changeCustomer(state: FakeState, customer: CustomerRecord, said: CustomerChange): CustomerRecord {
  const columns = changedColumns(customer, said);
  if (differingFields(customer, columns).length === 0) return customer;
  return putCustomer(state, customer, { ...customer, ...columns });
}

function putCustomer(state: FakeState, before: CustomerRecord, after: CustomerRecord): CustomerRecord {
  const customer = { ...after, updatedAtMs: laterThan(state, before) };
  state.customers.set(customer.id, customer);
  return customer;
}

/** The time of a change to a row, which is later than that of the previous change. */
function laterThan(state: FakeState, { updatedAtMs }: { readonly updatedAtMs: number }): number {
  return Math.max(state.now(), updatedAtMs + 1);
}
