// Why a payment was credited, in words, from the rule that matched it.
const RULES: Readonly<Record<string, string>> = {
  ADDRESS: "Credited because it came to this invoice's own address.",
  EXACT_AMOUNT: "Credited because the amount is exactly this invoice's own.",
  TOLERANCE: "Credited because the amount is within the tolerance of this invoice, and of no other.",
  SOLE_CANDIDATE: "Credited because no other invoice waited at this address.",
  MANUAL: "Assigned by hand.",
};

export function evidence(matchedBy: string | null): string | undefined {
  return matchedBy === null ? undefined : (RULES[matchedBy] ?? `Credited by the rule ${matchedBy}.`);
}
