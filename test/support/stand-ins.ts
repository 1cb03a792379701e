// Stand-ins for platform objects, with only the members a test supplies: the platform's own have methods and brands that no stand-in has. A missing
// member fails when it is called.

/** Stands in for any platform object. */
export function standInFor<T extends object>(members: { readonly [member in keyof T]?: unknown }): T {
  const given: object = members;
  return given as T;
}

/** Bindings. */
export function standIns<Name extends keyof Env>(bindings: { readonly [name in Name]: unknown }): Pick<Env, Name> {
  return standInFor<Pick<Env, Name>>(bindings);
}
