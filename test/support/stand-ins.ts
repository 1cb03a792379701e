// Stand-ins for platform objects, with only the members that a test supplies, because the platform's own types have methods and brands that no
// stand-in has. Calling a missing member fails.

export function standInFor<T extends object>(members: { readonly [member in keyof T]?: unknown }): T {
  const given: object = members;
  return given as T;
}

export function standIns<Name extends keyof Env>(bindings: { readonly [name in Name]: unknown }): Pick<Env, Name> {
  return standInFor<Pick<Env, Name>>(bindings);
}
