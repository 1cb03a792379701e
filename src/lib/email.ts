/** The email in lower case, in which emails are compared (decisions 4, 9). Identifies an account, a customer or an invitation. */
export function emailKeyOf(email: string): string {
  return email.toLowerCase();
}
