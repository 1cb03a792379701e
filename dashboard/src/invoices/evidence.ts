// Says why a payment was credited, from the rule that matched it.
const RULES: Readonly<Record<string, string>> = {
  ADDRESS: "Credited because it was sent to this invoice's own address.",
  EXACT_AMOUNT: "Credited because only this invoice expects this amount.",
  TOLERANCE: "Credited because the amount is within this invoice's tolerance, and no other's.",
  SOLE_CANDIDATE: "Credited because no other invoice was waiting at this address.",
  MANUAL: "Assigned manually.",
};

export function evidence(matchedBy: string | null): string | undefined {
  return matchedBy === null ? undefined : (RULES[matchedBy] ?? `Credited by the rule ${matchedBy}.`);
}
