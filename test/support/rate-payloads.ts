// Responses of the five rate sources in their documented shapes, cut to little more than what is read. Prices are fictional and of the same time.
import { BANK_CODES, FIAT_CODES } from "../../src/lib/fiat-codes.ts";

/** The currencies that only two sources price; their prices differ by one percent. */
const OTHERS = FIAT_CODES.filter((code) => !BANK_CODES.includes(code));

export const COINBASE = `{"data":{"currency":"USD","rates":{"EUR":"0.88137","BTC":"0.0000147058607267","LTC":"0.0125",
"ETH":"0.0002857142857143","POL":"2","BNB":"0.0016666666666667","CRO":"10","TRX":"8.3333333333333333","WBTC":"0.0000147275405007",
"USDT":"1.0003000900270081","USDC":"1","DAI":"1.0001000100010001","EURC":"0.8813","PYUSD":"1.0002000400080016",
"UNI":"0.125","SHIB":"100000",${OTHERS.map((code) => `"${code}":"100"`).join(",")}}}}`;

const ticker = (key: string, ask: string, bid: string): string =>
  `"${key}":{"a":["${ask}","1","1.000"],"b":["${bid}","2","2.000"],"c":["${bid}","0.00012700"],"v":["1.5","2.5"],"t":[1,2],"o":"${bid}"}`;

/** Kraken returns old assets under their long names. */
export const KRAKEN = `{"error":[],"result":{${[
  ticker("XXBTZUSD", "68010.00000", "68000.00000"),
  ticker("XLTCZUSD", "80.02000", "79.99000"),
  ticker("XETHZUSD", "3500.10000", "3500.00000"),
  ticker("TRXUSD", "0.120010", "0.119990"),
  ticker("USDTZUSD", "0.99967000", "0.99966000"),
  ticker("USDCUSD", "0.99990000", "0.99980000"),
  ticker("DAIUSD", "0.99991000", "0.99980000"),
  ticker("WBTCUSD", "67950.0", "67850.0"),
  ticker("POLUSD", "0.5001", "0.4999"),
  ticker("BNBUSD", "600.20000", "599.90000"),
  ticker("CROUSD", "0.100300", "0.099900"),
  ticker("EURCUSD", "1.13500", "1.13400"),
  ticker("PYUSDUSD", "0.99990", "0.99980"),
  ticker("UNIUSD", "8.0100", "7.9900"),
  ticker("SHIBUSD", "0.000010010", "0.000009990"),
].join(",")}}}`;

/** Prices with all digits, as with `precision=full`. */
export const coingecko = (updatedAtSeconds: number): string =>
  `{"bitcoin":{"usd":68005.12345678901234567,"last_updated_at":${updatedAtSeconds}},${[
    ["litecoin", "80"],
    ["ethereum", "3500.05"],
    ["polygon-ecosystem-token", "5e-1"],
    ["binancecoin", "600.05"],
    ["crypto-com-chain", "0.1001"],
    ["tron", "0.12"],
    ["wrapped-bitcoin", "67900"],
    ["tether", "0.9997"],
    ["usd-coin", "0.99985"],
    ["dai", "0.9999"],
    ["euro-coin", "1.1345"],
    ["paypal-usd", "0.9998"],
    ["uniswap", "8.002"],
    ["shiba-inu", "1.0004e-05"],
  ]
    .map(([id, usd]) => `"${id}":{"usd":${usd},"last_updated_at":${updatedAtSeconds}}`)
    .join(",")}}`;

/** `date` as YYYY-MM-DD. */
export const frankfurter = (date: string): string =>
  `{"amount":1.0,"base":"USD","date":"${date}","rates":{"AUD":1.6042,"BRL":5.831,"CAD":1.3869,"CHF":0.81544,"CNY":7.2994,"CZK":22.164,` +
  `"DKK":6.5816,"EUR":0.88137,"GBP":0.76395,"HKD":7.7552,"HUF":360.39,"IDR":16855,"ILS":3.7209,"INR":86.09,"ISK":128.06,"JPY":142.84,` +
  `"KRW":1431.68,"MXN":20.38,"MYR":4.4225,"NOK":10.665,"NZD":1.7254,"PHP":57.065,"PLN":3.7857,"RON":4.3872,"SEK":9.8006,"SGD":1.3213,` +
  `"THB":33.555,"TRY":38.058,"ZAR":19.2834}}`;

/** `date` as YYYY-MM-DD. Codes are in lower case, coins included. */
export const currencyApi = (date: string): string =>
  `{"date":"${date}","usd":{"1inch":4.1,"btc":0.0000147,"usd":1,"eur":0.8815,${OTHERS.map((code) => `"${code.toLowerCase()}":101`).join(",")}}}`;
