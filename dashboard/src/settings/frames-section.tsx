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
      part="embedding"
      about="Sites that may show the payment page in a frame. All others are blocked, to prevent clickjacking."
      initial={{ frameAncestors: [...settings.frameAncestors] }}
      bodyOf={(values) => values}
    >
      {(form) => (
        <TagsInput
          label="Origins"
          description="Enter each origin, such as https://shop.example, and press Enter. Leave empty to allow none."
          maxTags={MOST}
          splitChars={[",", " ", ";"]}
          acceptValueOnBlur
          {...form.getInputProps("frameAncestors")}
        />
      )}
    </SettingsForm>
  );
}
