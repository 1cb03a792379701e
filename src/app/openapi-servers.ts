/** Where the OpenAPI document says that the API is; `publicUrl` is our own origin, empty where it is not known. */
export function serversOf(publicUrl: string): readonly { readonly url: string }[] {
  return [{ url: publicUrl === "" ? "/" : publicUrl }];
}
