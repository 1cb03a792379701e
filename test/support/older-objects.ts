// Objects that still run the previous release. For some minutes after a deploy the new Worker calls them. They lack the methods that this release
// added, and a call to such a method fails as in the real runtime.
import { env } from "cloudflare:workers";
import { ADDED_METHODS } from "./added-methods.ts";
import { standInFor } from "./stand-ins.ts";

export type AddedBinding =
  | "ADDRESS_ALLOCATOR"
  | "AMOUNT_ALLOCATOR"
  | "DIRECTORY"
  | "MERCHANT_OBJECT"
  | "NETWORK_WATCHER";

/** The namespace of a binding. Objects for which `isOlder` is true behave like objects of the previous release. */
export function withOlder<B extends AddedBinding>(binding: B, isOlder: (name: string) => boolean): Pick<Env, B> {
  const real = env[binding];
  const getByName = (name: string, ...rest: never[]) => {
    const stub = real.getByName(name, ...rest);
    if (!isOlder(name)) return stub;
    return new Proxy(stub, {
      get: (_, method) => {
        const isAdded = ADDED_METHODS.some((added) => added === `${binding}.${String(method)}`);
        const value: unknown = Reflect.get(stub, isAdded ? "methodOfNoRelease" : method);
        return typeof value === "function" ? (...given: unknown[]) => Reflect.apply(value, stub, given) : value;
      },
    });
  };
  return Object.assign(standInFor<Pick<Env, B>>({}), { [binding]: { getByName } });
}
