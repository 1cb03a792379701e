import { isPublicKey } from "../../accounts/auth/principal.ts";
import { answerOnce } from "../../accounts/pipeline/answer-once.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { seatOf } from "../../accounts/teams/check-seat.ts";
import { PRODUCT_TEXT } from "../../chains/secrets/secret-material.ts";
import { err, ok } from "../../lib/result.ts";
import { jsonReply, replyTo } from "../../platform/http/reply.ts";
import { createProductBody, listProductsQuery, productBody, productListBody, updateProductBody } from "./contract.ts";
import { createProduct } from "./create-product.ts";
import { deleteProduct } from "./delete-product.ts";
import { productDependencies } from "./dependencies.ts";
import { listProducts, productPageReads } from "./list-products.ts";
import { isShownTo } from "./product.ts";
import { productBodyOf } from "./product-body.ts";
import { imageReads, productReads } from "./read-product.ts";
import { updateProduct } from "./update-product.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/products";
const ONE = `${BASE}/:productId`;

export const productRoutes = routesOf({
  tag: "Products",
  callers: "MEMBER_OR_KEY",
  dependencies: productDependencies,
  secrets: PRODUCT_TEXT,
})
  .post(BASE, {
    operationId: "createProduct",
    summary: "Create a product",
    permission: "product:create",
    isIdempotent: true,
    body: createProductBody,
    answers: [{ status: 201, description: "The product", schema: productBody }],
    refusals: ["IMAGE_NOT_FOUND", "IMAGE_REFUSED", "LIMIT_REACHED"],
    reads: ({ db, deps, merchantId, request }) =>
      imageReads(db, { publicUrl: deps.publicUrl, merchantId }, request?.body.image),
    answer: async (call) => {
      const { merchantId } = call.principal;
      const isImageThere = call.read[0].length > 0;
      const acting = { seat: seatOf(call.principal), permission: "product:create" } as const;
      const request = { merchantId, trail: call.trail, wanted: call.body, isImageThere, ...acting };
      return answerOnce(call, createProduct(call.deps, request));
    },
  })
  .get(BASE, {
    operationId: "listProducts",
    summary: "List products, newest first",
    description: "A public key sees only active products.",
    permission: "product:view",
    isForPublicKeys: true,
    query: listProductsQuery,
    answers: [{ status: 200, description: "One page", schema: productListBody }],
    reads: ({ db, merchantId, request, isPublicKeyClaimed }) =>
      productPageReads(db, merchantId, { query: request?.query, isPublicKey: isPublicKeyClaimed }),
    answer: async (call) => {
      const [rows, counts] = call.read;
      const isPublic = isPublicKey(call.principal);
      if (!rows.every((product) => isShownTo(product, isPublic)))
        throw new Error("an inactive product was read for a public key");
      return replyTo(listProducts({ rows, total: counts[0]?.total ?? 0 }, call.query, call.deps.publicUrl));
    },
  })
  .get(ONE, {
    operationId: "getProduct",
    summary: "Read a product",
    description: "A public key can read it only while it is active.",
    permission: "product:view",
    isForPublicKeys: true,
    answers: [{ status: 200, description: "The product", schema: productBody }],
    refusals: ["PRODUCT_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => productReads(db, merchantId, params.productId),
    answer: async (call) => {
      const [product] = call.read[0];
      const isShown = product !== undefined && isShownTo(product, isPublicKey(call.principal));
      return isShown
        ? ok(jsonReply(200, productBodyOf(product, call.deps.publicUrl)))
        : err({ code: "PRODUCT_NOT_FOUND" });
    },
  })
  .patch(ONE, {
    operationId: "updateProduct",
    summary: "Update a product",
    description: "Invoices that embed the product show its new state; the amounts they ask for never change.",
    permission: "product:update",
    body: updateProductBody,
    answers: [{ status: 200, description: "The updated product", schema: productBody }],
    refusals: ["PRODUCT_NOT_FOUND", "IMAGE_NOT_FOUND", "IMAGE_REFUSED", "LIMIT_REACHED"],
    reads: ({ db, deps, merchantId, params, request }) => [
      ...productReads(db, merchantId, params.productId),
      ...imageReads(db, { publicUrl: deps.publicUrl, merchantId }, request?.body.image),
    ],
    answer: async (call) => {
      const [[read], images] = call.read;
      if (read === undefined) return err({ code: "PRODUCT_NOT_FOUND" });
      const acting = { seat: seatOf(call.principal), permission: "product:update" } as const;
      const of = { read, trail: call.trail, isImageThere: images.length > 0, ...acting };
      return replyTo(await updateProduct(call.deps, of, call.body), (value) =>
        productBodyOf(value, call.deps.publicUrl),
      );
    },
  })
  .delete(ONE, {
    operationId: "deleteProduct",
    summary: "Delete a product",
    description: "Invoices that embed the product keep it.",
    permission: "product:delete",
    answers: [{ status: 200, description: "The deleted product", schema: productBody }],
    refusals: ["PRODUCT_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => productReads(db, merchantId, params.productId),
    answer: async (call) => {
      const [read] = call.read[0];
      if (read === undefined) return err({ code: "PRODUCT_NOT_FOUND" });
      const acting = { seat: seatOf(call.principal), permission: "product:delete" } as const;
      return replyTo(await deleteProduct(call.deps, { read, trail: call.trail, ...acting }), (value) =>
        productBodyOf(value, call.deps.publicUrl),
      );
    },
  });
