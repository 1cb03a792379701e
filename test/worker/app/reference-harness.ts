// Shared by the reference tests: the OpenAPI document as served.
import { beforeAll } from "vitest";
import type { RouteSpec } from "../../../src/platform/http/route.ts";
import { send } from "../../support/access.ts";
import type { Schema } from "../../support/json-schema.ts";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
        readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
      }
    >
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

export let text: string;

export let document: Document;

export const withBraces = (path: string) => path.replace(/:(\w+)/g, "{$1}");

export function operationOf(spec: RouteSpec): Operation {
  const operation = document.paths[withBraces(spec.path)]?.[spec.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${spec.method} ${spec.path} is not documented`);
  return operation;
}

/** Requests the document once, before a file's tests. */
export function useDocument(): void {
  beforeAll(async () => {
    text = (await send("/openapi.json")).text;
    document = JSON.parse(text);
  });
}
