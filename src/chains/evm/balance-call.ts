// Many balances in one call: Multicall3's `aggregate3` of its own `getEthBalance`, encoded and decoded by hand, because it is all the ABI that
// the product uses.
/** The address of Multicall3 on every chain that has it. */
export const MULTICALL = "0xca11bde05977b3631167028862be2a173976ca11";
const AGGREGATE3 = "82ad56cb";
const GET_ETH_BALANCE = "4d2301cc";

const word = (value: number) => value.toString(16).padStart(64, "0");

/**
 * Call data that asks for the balances of `accounts`, 0x and 40 digits each. An array of tuples of dynamic size: its place, its length, the
 * place of each tuple behind the length, and the tuples of six words each: target, whether it may fail, the place of its call data within
 * it, their length (36 bytes), and the call data (a selector and the account), padded to two words.
 */
export function balancesCall(accounts: readonly string[]): string {
  const places = accounts.map((_, i) => word(32 * accounts.length + 192 * i));
  const target = MULTICALL.slice(2).padStart(64, "0") + word(0) + word(96) + word(36) + GET_ETH_BALANCE;
  const tuples = accounts.map((account) => target + account.slice(2).padStart(64, "0") + "0".repeat(56));
  return `0x${AGGREGATE3}${word(32)}${word(accounts.length)}${places.join("")}${tuples.join("")}`;
}

/** The balances in the order of the accounts; undefined for any answer of another form, such as that of a chain without the contract. */
export function readBalances(answer: string, count: number): readonly bigint[] | undefined {
  const words = /^0x([0-9a-f]{64})*$/.test(answer) ? (answer.length - 2) / 64 : 0;
  // Everything is aligned: offsets are given in bytes, and read as words.
  const at = (index: number) => BigInt(`0x${answer.slice(2 + 64 * index, 66 + 64 * index)}`);
  if (words < 2 || at(0) !== 32n || at(1) !== BigInt(count) || words !== 2 + 5 * count) return undefined;
  const balances: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const tuple = 2 + Number(at(2 + i)) / 32;
    if (!Number.isInteger(tuple) || tuple + 4 > words || at(tuple) !== 1n) return undefined;
    if (at(tuple + 1) !== 64n || at(tuple + 2) !== 32n) return undefined;
    balances.push(at(tuple + 3));
  }
  return balances;
}
