// The ISO 4217 currencies in which prices are accepted.

/** The dollar, and the currencies for which the European Central Bank publishes reference rates. */
export const BANK_CODES: readonly string[] =
  "USD EUR GBP CAD AUD JPY CHF CNY HKD SGD NZD SEK NOK DKK PLN CZK HUF RON TRY ILS ZAR BRL MXN INR IDR MYR PHP THB KRW ISK".split(
    " ",
  );

/** The codes of all currencies that are legal tender somewhere. Which of them can be priced changes from day to day (rates/quote.ts). */
export const FIAT_CODES: readonly string[] = [
  ...BANK_CODES,
  ...(
    "AED AFN ALL AMD AOA ARS AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BSD BTN BWP BYN BZD CDF CLP COP CRC CUP CVE DJF DOP DZD EGP ERN " +
    "ETB FJD FKP GEL GHS GIP GMD GNF GTQ GYD HNL HTG IQD IRR JMD JOD KES KGS KHR KMF KPW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL " +
    "MGA MKD MMK MNT MOP MRU MUR MVR MWK MZN NAD NGN NIO NPR OMR PAB PEN PGK PKR PYG QAR RSD RUB RWF SAR SBD SCR SDG SHP SLE SOS SRD " +
    "SSP STN SVC SYP SZL TJS TMT TND TOP TTD TWD TZS UAH UGX UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZMW ZWG"
  ).split(" "),
];

const WITHOUT_MINOR_UNIT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";
const WITH_THREE_DIGITS = "BHD IQD JOD KWD LYD OMR TND";

/** How many fraction digits a fiat currency has by ISO 4217. `code` is one of `FIAT_CODES`. */
export function minorDigits(code: string): 0 | 2 | 3 {
  if (WITHOUT_MINOR_UNIT.includes(code)) return 0;
  return WITH_THREE_DIGITS.includes(code) ? 3 : 2;
}

/** How `Intl` shows a fiat currency. The two CFA francs are shown by their codes, because their symbols differ only by a space. */
export function currencyDisplay(code: string): "code" | "symbol" {
  return code === "XAF" || code === "XOF" ? "code" : "symbol";
}
