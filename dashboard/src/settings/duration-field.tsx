import { Group, NativeSelect } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { fieldText, numberError, numberIn } from "../shell/amounts.ts";
import { NumberField } from "../shell/number-field.tsx";

const UNITS = [
  { value: "86400", label: "days" },
  { value: "3600", label: "hours" },
  { value: "60", label: "minutes" },
  { value: "1", label: "seconds" },
];
/** A limit that is high enough for any unit; each setting has its own limits. */
const COUNT = { digits: 2, most: 1_000_000_000n } as const;

interface Props {
  readonly label: string;
  readonly description: string;
  /** In seconds; NaN while the typed text is not a number. */
  readonly value: number;
  readonly error?: ReactNode;
  readonly onChange: (seconds: number) => void;
}

/** A field for a time span, in the largest unit in which it is a whole number. */
export function DurationField({ label, description, value, error, onChange }: Props) {
  const [unit, setUnit] = useState(() =>
    value === 0 ? "60" : (UNITS.find(({ value: size }) => value % Number(size) === 0)?.value ?? "1"),
  );
  const size = Number(unit);
  const [typed, setTyped] = useState(() => fieldText(value / size));
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <NumberField
        label={label}
        hint={description}
        error={error !== undefined && (numberError(typed, COUNT) ?? error)}
        style={{ flex: 1 }}
        rule={COUNT}
        value={typed}
        onChange={(text) => {
          setTyped(text);
          onChange(Math.round((numberIn(text, COUNT) ?? Number.NaN) * size));
        }}
      />
      <NativeSelect
        aria-label={`Unit for: ${label}`}
        data={UNITS}
        value={unit}
        w={110}
        onChange={({ currentTarget }) => {
          setUnit(currentTarget.value);
          if (Number.isFinite(value)) setTyped(shortText(value / Number(currentTarget.value)));
        }}
      />
    </Group>
  );
}

/** Rounds the number for display; the time span itself is unchanged. */
function shortText(count: number): string {
  return fieldText(Math.round(count * 100) / 100);
}
