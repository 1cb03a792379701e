import { Group, NativeSelect, NumberInput } from "@mantine/core";
import { type ReactNode, useState } from "react";

const UNITS = [
  { value: "86400", label: "days" },
  { value: "3600", label: "hours" },
  { value: "60", label: "minutes" },
  { value: "1", label: "seconds" },
];

interface Props {
  readonly label: string;
  readonly description: string;
  /** In seconds. */
  readonly value: number;
  readonly error?: ReactNode;
  readonly onChange: (seconds: number) => void;
}

/** A time span, in the unit in which it is a whole number. */
export function DurationField({ label, description, value, error, onChange }: Props) {
  const [unit, setUnit] = useState(() => UNITS.find(({ value: size }) => value % Number(size) === 0)?.value ?? "1");
  const size = Number(unit);
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <NumberInput
        label={label}
        description={description}
        error={error}
        style={{ flex: 1 }}
        min={0}
        decimalScale={2}
        hideControls
        value={value / size}
        onChange={(typed) => onChange(Math.round(Number(typed) * size))}
      />
      <NativeSelect
        aria-label={`Unit of: ${label}`}
        data={UNITS}
        value={unit}
        w={110}
        onChange={({ currentTarget }) => setUnit(currentTarget.value)}
      />
    </Group>
  );
}
