import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { isPublicKey } from "../auth/principal.ts";
import { jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { err, ok } from "../lib/result.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import { createProductBody, listProductsQuery, productBody, productListBody, updateProductBody } from "./contract.ts";
import { createProduct } from "./create-product.ts";
import { deleteProduct } from "./delete-product.ts";
import { productEffects } from "./effects.ts";
import { listProducts, productPageReads } from "./list-products.ts";
import { isShownTo } from "./product.ts";
import { productBodyOf } from "./product-body.ts";
import { imageReads, productReads } from "./read-product.ts";
import { updateProduct } from "./update-product.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/products";
const ONE = `${BASE}/:productId`;

const create = merchantRoute({
  spec: {
    method: "POST",
    path: BASE,
    operationId: "createProduct",
    tag: "Products",
    summary: "Create a product",
    callers: "MEMBER_OR_KEY",
    permission: "product:create",
    isForPublicKeys: false,
    isIdempotent: true,
    body: createProductBody,
    query: noQuery,
    answers: [{ status: 201, description: "The product", schema: productBody }],
    refusals: ["IMAGE_NOT_FOUND", "IMAGE_REFUSED"],
  },
  secrets: FREE_TEXT,
  effects: productEffects,
  reads: ({ db, fx, merchantId, request }) =>
    imageReads(db, { publicUrl: fx.publicUrl, merchantId }, request?.body.image),
  answer: async (call) => {
    const { merchantId } = call.principal;
    const isImageThere = call.read[0].length > 0;
    const request = { merchantId, trail: call.trail, wanted: call.body, isImageThere };
    return answerOnce(call, createProduct(call.fx, request));
  },
});

const list = merchantRoute({
  spec: {
    method: "GET",
    path: BASE,
    operationId: "listProducts",
    tag: "Products",
    summary: "List products, newest first",
    description: "A public key sees active ones only.",
    callers: "MEMBER_OR_KEY",
    permission: "product:view",
    isForPublicKeys: true,
    isIdempotent: false,
    body: noBody,
    query: listProductsQuery,
    answers: [{ status: 200, description: "One page", schema: productListBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: productEffects,
  reads: ({ db, merchantId, request, isPublicKeyClaimed }) =>
    productPageReads(db, merchantId, { query: request?.query, isPublicKey: isPublicKeyClaimed }),
  answer: async (call) => {
    const [rows, counts] = call.read;
    const isPublic = isPublicKey(call.principal);
    if (!rows.every((product) => isShownTo(product, isPublic))) throw new Error("a public key was read as another");
    const page = listProducts({ rows, total: counts[0]?.total ?? 0 }, call.query, call.fx.publicUrl);
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const get = merchantRoute({
  spec: {
    method: "GET",
    path: ONE,
    operationId: "getProduct",
    tag: "Products",
    summary: "Read a product",
    description: "A public key sees it while it is active.",
    callers: "MEMBER_OR_KEY",
    permission: "product:view",
    isForPublicKeys: true,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The product", schema: productBody }],
    refusals: ["PRODUCT_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: productEffects,
  reads: ({ db, merchantId, params }) => productReads(db, merchantId, params.productId),
  answer: async (call) => {
    const [product] = call.read[0];
    const isShown = product !== undefined && isShownTo(product, isPublicKey(call.principal));
    return isShown ? ok(jsonReply(200, productBodyOf(product, call.fx.publicUrl))) : err({ code: "PRODUCT_NOT_FOUND" });
  },
});

const update = merchantRoute({
  spec: {
    method: "PATCH",
    path: ONE,
    operationId: "updateProduct",
    tag: "Products",
    summary: "Change a product",
    description: "Invoices that embed it show it as it then is; what they ask for never changes.",
    callers: "MEMBER_OR_KEY",
    permission: "product:update",
    isForPublicKeys: false,
    isIdempotent: false,
    body: updateProductBody,
    query: noQuery,
    answers: [{ status: 200, description: "The product as it now is", schema: productBody }],
    refusals: ["PRODUCT_NOT_FOUND", "IMAGE_NOT_FOUND", "IMAGE_REFUSED"],
  },
  secrets: FREE_TEXT,
  effects: productEffects,
  reads: ({ db, fx, merchantId, params, request }) => [
    ...productReads(db, merchantId, params.productId),
    ...imageReads(db, { publicUrl: fx.publicUrl, merchantId }, request?.body.image),
  ],
  answer: async (call) => {
    const [[read], images] = call.read;
    if (read === undefined) return err({ code: "PRODUCT_NOT_FOUND" });
    const of = { read, trail: call.trail, isImageThere: images.length > 0 };
    const changed = await updateProduct(call.fx, of, call.body);
    return changed.ok ? ok(jsonReply(200, productBodyOf(changed.value, call.fx.publicUrl))) : changed;
  },
});

const remove = merchantRoute({
  spec: {
    method: "DELETE",
    path: ONE,
    operationId: "deleteProduct",
    tag: "Products",
    summary: "Delete a product",
    description: "Invoices that embed it keep it.",
    callers: "MEMBER_OR_KEY",
    permission: "product:delete",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The product, deleted", schema: productBody }],
    refusals: ["PRODUCT_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: productEffects,
  reads: ({ db, merchantId, params }) => productReads(db, merchantId, params.productId),
  answer: async (call) => {
    const [read] = call.read[0];
    if (read === undefined) return err({ code: "PRODUCT_NOT_FOUND" });
    const deleted = await deleteProduct(call.fx, { read, trail: call.trail });
    return deleted.ok ? ok(jsonReply(200, productBodyOf(deleted.value, call.fx.publicUrl))) : deleted;
  },
});

export const productRoutes: readonly MountedRoute[] = [create, list, get, update, remove];
