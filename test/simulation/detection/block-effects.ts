// A contract's transaction whose effect differs between blocks: it pays another amount, another recipient, another coin, fewer or more times, or in
// another order.
import type { Dice } from "../../support/dice.ts";
import type { Output } from "./chain-tree.ts";

/** An address that nobody watches. */
const STRANGER = "0x000000000000000000000000000000000000bEEF";

/** One to three variants of a transaction's usual effect. `payable`: the transfers to our addresses that a variant may contain. */
export function otherEffects(
  usual: readonly Output[],
  payable: readonly Output[],
  dice: Dice,
): readonly (readonly Output[])[] {
  return Array.from({ length: dice.between(1, 3) }, () => {
    const changed = oneChange(usual, payable, dice);
    return dice.chance(0.3) ? oneChange(changed, payable, dice) : changed;
  });
}

function oneChange(outputs: readonly Output[], payable: readonly Output[], dice: Dice): readonly Output[] {
  const at = dice.below(outputs.length);
  const real = outputs[at];
  if (real === undefined) return [dice.oneOf(payable)];
  const replaced = (by: (each: Output) => boolean) => {
    const others = payable.filter(by);
    return others.length === 0 ? outputs : outputs.with(at, dice.oneOf(others));
  };
  switch (dice.oneOf(["amount", "amount", "recipient", "stranger", "asset", "vanishes", "appears", "order"] as const)) {
    case "amount":
      return replaced((each) => isSame(each, real, "toAddress", "cryptocurrency"));
    case "recipient":
      return replaced((each) => isSame(each, real, "cryptocurrency") && each.toAddress !== real.toAddress);
    case "stranger":
      return outputs.with(at, { ...real, toAddress: STRANGER });
    case "asset":
      return replaced((each) => each.cryptocurrency !== real.cryptocurrency);
    case "vanishes":
      return outputs.toSpliced(at, 1);
    case "appears":
      return outputs.toSpliced(dice.below(outputs.length + 1), 0, dice.oneOf(payable));
    case "order":
      return dice.shuffled(outputs);
  }
}

function isSame(a: Output, b: Output, ...members: readonly (keyof Output)[]): boolean {
  return members.every((member) => a[member] === b[member]);
}
