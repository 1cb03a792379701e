import { randomFrom } from "./random.ts";

/** Random choices. The same seed gives the same choices. */
export class Dice {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  /** 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.random() * n);
  }

  /** Both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  oneOf<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("nothing to choose from");
    return at(list, this.below(list.length));
  }

  shuffled<T>(list: readonly T[]): T[] {
    const shuffled = [...list];
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [shuffled[i], shuffled[j]] = [at(shuffled, j), at(shuffled, i)];
    }
    return shuffled;
  }
}

/** Returns the element at an index, which may be `undefined`. With a plain index the compiler could not tell that the element exists. */
function at<T>(list: readonly T[], place: number): T {
  for (const found of list.slice(place, place + 1)) return found;
  throw new Error(`a list of ${list.length} has nothing at ${place}`);
}
