export function invoicesSearch(_search: Readonly<Record<string, unknown>>) {
  return {};
}
