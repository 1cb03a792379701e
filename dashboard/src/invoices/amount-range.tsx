import { Group } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { ANY_CURRENCY, fieldText, numberError, wireNumber } from "../shell/amounts.ts";
import { NumberField } from "../shell/number-field.tsx";

interface Props {
  /** A decimal amount, as in the page's address. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly onChange: (change: {
    readonly amountFrom?: string | undefined;
    readonly amountTo?: string | undefined;
  }) => void;
}

/** Filters by amount, in any currency. */
export function AmountRange({ from, to, onChange }: Props) {
  return (
    <Group gap="sm" align="flex-start" wrap="nowrap">
      <AmountFilter label="Amount from" value={from} onChange={(amountFrom) => onChange({ amountFrom })} />
      <AmountFilter label="Amount to" value={to} onChange={(amountTo) => onChange({ amountTo })} />
    </Group>
  );
}

const FILTER_AFTER_MS = 300;

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (amount: string | undefined) => void;
}

function AmountFilter({ label, value, onChange }: FilterProps) {
  const [typed, setTyped] = useState({ text: fieldText(value ?? null), of: value });
  // The page's address changed although nothing was typed: the user went back, or cleared all filters.
  if (typed.of !== value) setTyped({ text: fieldText(value ?? null), of: value });
  const error = numberError(typed.text, ANY_CURRENCY, null);
  const filter = useDebouncedCallback((amount: string | undefined) => onChange(amount), FILTER_AFTER_MS);
  return (
    <NumberField
      label={label}
      placeholder="Any"
      rule={ANY_CURRENCY}
      value={typed.text}
      error={error}
      onChange={(text) => {
        if (numberError(text, ANY_CURRENCY, null) !== null) {
          filter.cancel();
          setTyped({ text, of: value });
          return;
        }
        const amount = text.trim() === "" ? undefined : String(wireNumber(text, ANY_CURRENCY));
        setTyped({ text, of: value });
        if (amount === value) filter.cancel();
        else filter(amount);
      }}
      w={120}
    />
  );
}
