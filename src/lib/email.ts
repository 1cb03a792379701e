/** Emails compare in lower case (decisions 4, 9): the key of an account, a customer, an invitation. */
export function emailKeyOf(email: string): string {
  return email.toLowerCase();
}
