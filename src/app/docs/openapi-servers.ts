/** The servers of the OpenAPI document; `publicUrl` is our own origin, empty if unknown. */
export function serversOf(publicUrl: string): readonly { readonly url: string }[] {
  return [{ url: publicUrl === "" ? "/" : publicUrl }];
}
