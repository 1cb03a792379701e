import { Text, TextInput, type TextInputProps } from "@mantine/core";
import { type NumberRule, readingOf } from "./amounts.ts";

interface Props extends Omit<TextInputProps, "value" | "onChange" | "description" | "error"> {
  readonly label: string;
  readonly rule: NumberRule;
  /** The text as the user typed it. */
  readonly value?: string;
  readonly onChange: (text: string) => void;
  /** The expected format; a note about the typed text replaces it. */
  readonly hint?: string;
  readonly error?: TextInputProps["error"];
  /** Unit shown after the number, such as `hours`. */
  readonly unit?: string;
}

/**
 * A number or an amount of money, in the notation of the reader's country. The value that will be sent is shown below, except for plain digits
 * without a currency.
 */
export function NumberField({ rule, value = "", onChange, hint, error, unit, ...input }: Props) {
  // Plain digits are never ambiguous.
  const isPlain = rule.currency === undefined && /^\d*$/.test(value);
  const reading = isPlain ? undefined : readingOf(value, rule);
  const isSaid = reading !== undefined && reading === error;
  return (
    <TextInput
      inputMode={rule.digits === 0 ? "numeric" : "decimal"}
      autoComplete="off"
      inputWrapperOrder={["label", "input", "description", "error"]}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      description={isSaid ? undefined : (reading ?? hint)}
      descriptionProps={{ "aria-live": "polite", dir: "auto" }}
      error={error}
      {...(unit === undefined ? {} : { rightSection: <Unit name={unit} />, rightSectionWidth: `${unit.length + 3}ch` })}
      {...input}
    />
  );
}

function Unit({ name }: { readonly name: string }) {
  return (
    <Text size="sm" c="dimmed" aria-hidden="true">
      {name}
    </Text>
  );
}
