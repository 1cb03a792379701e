import { Group, Select } from "@mantine/core";
import { useState } from "react";
import { dayIn } from "../home/spans.ts";
import { DayInput } from "./day-input.tsx";
import { type Days, PRESET_NAMES, PRESETS, presetDays, presetOf } from "./day-presets.ts";
import { useZoneName } from "./reader.tsx";

const OWN = "own";
const OPTIONS = [
  ...PRESETS.map((preset) => ({ value: preset, label: PRESET_NAMES[preset] })),
  { value: OWN, label: "Choose dates" },
];

interface Props {
  /** What the days refer to: `Created`. */
  readonly label: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Whether a range must be chosen. Otherwise an empty one means `Any time`. */
  readonly isRequired?: boolean;
  readonly error?: boolean;
  readonly onChange: (days: Partial<Days>) => void;
}

/** A range of days, chosen by name or by its first and last day. */
export function DayRange({ label, from, to, isRequired = false, error = false, onChange }: Props) {
  const today = dayIn(useZoneName(), Date.now());
  const [isOwn, setOwn] = useState(false);
  const hasDays = from !== undefined || to !== undefined;
  const preset = presetOf({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }, today);
  const isOwnShown = isOwn || (hasDays && preset === undefined);
  const choose = (value: string | null) => {
    const named = PRESETS.find((each) => each === value);
    setOwn(value === OWN);
    if (named !== undefined) onChange(presetDays(named, today));
    else if (value === null) onChange({});
  };
  const change = (days: Partial<Days>) => onChange(withoutEmpty({ ...withoutEmpty({ from, to }), ...days }));
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label={label}
        placeholder="Any time"
        data={OPTIONS}
        value={isOwnShown ? OWN : (preset ?? null)}
        onChange={choose}
        allowDeselect={false}
        clearable={!isRequired}
        clearButtonProps={{ "aria-label": "Any time" }}
        w={170}
      />
      {isOwnShown && (
        <>
          <DayInput
            label="From"
            required={isRequired}
            value={from ?? ""}
            max={to}
            onChange={(day) => change({ from: day })}
          />
          <DayInput
            label="To"
            required={isRequired}
            value={to ?? ""}
            min={from}
            error={error}
            onChange={(day) => change({ to: day })}
          />
        </>
      )}
    </Group>
  );
}

function withoutEmpty(days: { readonly [K in keyof Days]?: string | undefined }): Partial<Days> {
  return {
    ...(days.from === undefined || days.from === "" ? {} : { from: days.from }),
    ...(days.to === undefined || days.to === "" ? {} : { to: days.to }),
  };
}
