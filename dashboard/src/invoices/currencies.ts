/** The most common currencies. The API accepts more, and a product keeps a currency that is not in this list. */
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
