// Stand-ins of what the platform gives, of which the code under test uses no more than a test gives: the platform's own have methods and marks that
// no stand-in has. What is missing shows itself when it is called.

/** Of any object of the platform. */
export function standInFor<T extends object>(members: { readonly [member in keyof T]?: unknown }): T {
  const given: object = members;
  return given as T;
}

/** Bindings. */
export function standIns<Name extends keyof Env>(bindings: { readonly [name in Name]: unknown }): Pick<Env, Name> {
  return standInFor<Pick<Env, Name>>(bindings);
}
