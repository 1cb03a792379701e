import { TagsInput } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { SettingsForm } from "./settings-form.tsx";

const MOST = 20;

interface Values {
  readonly frameAncestors: string[];
}

export function FramesSection({ settings }: { readonly settings: Settings }) {
  return (
    <SettingsForm<Values>
      title="Pages that may show the checkout"
      about="Your shop can show the customer's page in a frame of its own. No other page may, so that nobody can lay theirs over it."
      initial={{ frameAncestors: [...settings.frameAncestors] }}
      bodyOf={(values) => values}
    >
      {(form) => (
        <TagsInput
          label="Origins"
          description="Such as https://shop.example, each ended with Enter. Empty: no page may."
          maxTags={MOST}
          splitChars={[",", " ", ";"]}
          acceptValueOnBlur
          {...form.getInputProps("frameAncestors")}
        />
      )}
    </SettingsForm>
  );
}
