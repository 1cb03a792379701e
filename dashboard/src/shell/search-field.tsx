import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { Icon } from "./icons.tsx";

const SEARCH_AFTER_MS = 300;
/** The API's limit. */
const LONGEST_SEARCH = 320;

interface Props {
  /** For a screen reader: `Search products`. */
  readonly name: string;
  /** What can be searched. */
  readonly hint: string;
  /** The search text when the page opens. */
  readonly asked: string | undefined;
  readonly longest?: number;
  /** Called when the reader stops typing; with undefined if the field is empty. */
  readonly onSearch: (words: string | undefined) => void;
}

export function SearchField({ name, hint, asked = "", longest = LONGEST_SEARCH, onSearch }: Props) {
  const [text, setText] = useState(asked);
  const search = useDebouncedCallback((words: string) => onSearch(words === "" ? undefined : words), SEARCH_AFTER_MS);
  return (
    <TextInput
      aria-label={name}
      placeholder={hint}
      leftSection={<Icon name="search" size={16} />}
      style={{ flex: "1 1 15rem" }}
      maxLength={longest}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        search(currentTarget.value.trim());
      }}
    />
  );
}
