import { TextInput } from "@mantine/core";
import { useState } from "react";
import { isDate } from "../reports/search.ts";

interface Props {
  readonly label: string;
  /** A date such as 2026-11-23, or "" for none. */
  readonly value: string;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly error?: boolean;
  readonly required?: boolean;
  /** Called with "" only if the date is optional. */
  readonly onChange: (date: string) => void;
}

/** Input for a day. A half-typed day is not a date yet, and stays as typed. */
export function DayInput({ value, required = false, onChange, ...of }: Props) {
  const [typed, setTyped] = useState({ text: value, of: value });
  if (typed.of !== value) setTyped({ text: value, of: value });
  return (
    <TextInput
      {...of}
      type="date"
      required={required}
      withAsterisk={false}
      value={typed.text}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped({ text, of: value });
        if (isDate(text) || (text === "" && !required)) onChange(text);
      }}
    />
  );
}
