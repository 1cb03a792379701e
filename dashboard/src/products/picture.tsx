import { Button, FileButton, Group, Image, Input, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ACCEPTED, fittingDataUrl } from "../shell/picture-file.ts";

interface Props {
  /** A URL, or a data URL that is not stored yet; "" for none. */
  readonly value: string;
  readonly error: ReactNode;
  readonly onChange: (url: string) => void;
}

export function PictureField({ value, error, onChange }: Props) {
  const [problem, setProblem] = useState<string>();
  const choose = async (file: File | null) => {
    if (file === null) return;
    try {
      onChange(await fittingDataUrl(file));
      setProblem(undefined);
    } catch {
      setProblem("This image cannot be read. Choose a PNG, JPEG or WebP.");
    }
  };
  return (
    <Input.Wrapper label="Image" labelElement="div" error={problem ?? error}>
      <Group gap="md" mt={4}>
        {value !== "" && <Image src={value} alt="The product" w={72} h={72} fit="contain" radius="md" />}
        <Stack gap={4}>
          <Group gap="xs">
            <FileButton accept={ACCEPTED} onChange={(file) => void choose(file)}>
              {(props) => (
                <Button {...props} variant="default" size="xs">
                  {value === "" ? "Choose an image" : "Choose another"}
                </Button>
              )}
            </FileButton>
            {value !== "" && (
              <Button variant="subtle" size="xs" onClick={() => onChange("")}>
                Remove image
              </Button>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            PNG, JPEG or WebP. Images over 32 KB are resized.
          </Text>
        </Stack>
      </Group>
    </Input.Wrapper>
  );
}
