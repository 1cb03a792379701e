/** Those that customers see most; the API knows more, and keeps the one of a product. */
export const CURRENCIES = [
  "USD",
  "EUR",
  "GBP",
  "CHF",
  "CAD",
  "AUD",
  "JPY",
  "SGD",
  "HKD",
  "PLN",
  "SEK",
  "NOK",
  "DKK",
  "CZK",
] as const;
