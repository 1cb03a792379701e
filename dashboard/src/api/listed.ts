/**
 * Types a string as a member of an API enum whose values the console does not list. The string came from the service, or from choices that it
 * offered. The service refuses any other value, and names the field.
 */
export function listed<T extends string>(text: string): T {
  return text as T;
}
