/**
 * Types a string as a member of an API enum that the console does not contain: it came from the service, or from its offered choices. The service
 * refuses any other value, and names the field.
 */
export function listed<T extends string>(text: string): T {
  return text as T;
}
