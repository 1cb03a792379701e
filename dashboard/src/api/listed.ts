/**
 * A text as one of a closed list of the API's, which is not in the console: it was answered by the service, or chosen of what the service offers. What
 * the list does not have, the service refuses, and says at which field.
 */
export function listed<T extends string>(text: string): T {
  return text as T;
}
