import { Button, FileButton, Group, Image, Input, Stack } from "@mantine/core";
import { useState } from "react";
import type { Image as Uploaded, UploadImageBody } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { ACCEPTED, fittingDataUrl, PICTURE_TYPES } from "../shell/picture-file.ts";

interface Props {
  readonly logoUrl: string | null;
  /** Null removes the logo. Customers see the change only when the form is saved. */
  readonly onChanged: (image: Uploaded | null) => void;
}

export function LogoField({ logoUrl, onChanged }: Props) {
  const { id: merchantId } = useMerchant();
  const mayChange = useMay("merchant:update");
  const [problem, setProblem] = useState<string>();
  const upload = useChange("uploadImage", { isShownInPlace: true, onSuccess: onChanged });
  const take = async (file: File | null) => {
    if (file === null) return;
    let body: UploadImageBody;
    try {
      body = bodyOf(await fittingDataUrl(file));
    } catch {
      setProblem("This image cannot be read. Choose a PNG, JPEG or WebP.");
      return;
    }
    setProblem(undefined);
    upload.mutate({ merchantId, body }, { onError: ({ message }) => setProblem(message) });
  };
  return (
    <Stack gap={6}>
      <Input.Label component="div">Logo</Input.Label>
      <Group>
        {logoUrl !== null && <Image src={logoUrl} alt="Your logo" w={48} h={48} fit="contain" radius="sm" />}
        {mayChange && (
          <>
            <FileButton onChange={(file) => void take(file)} accept={ACCEPTED}>
              {(props) => (
                <Button {...props} size="xs" variant="default" loading={upload.isPending}>
                  {logoUrl === null ? "Choose an image" : "Choose another"}
                </Button>
              )}
            </FileButton>
            {logoUrl !== null && (
              <Button size="xs" variant="subtle" onClick={() => onChanged(null)}>
                Remove logo
              </Button>
            )}
          </>
        )}
      </Group>
      {problem !== undefined && <Input.Error role="alert">{problem}</Input.Error>}
    </Stack>
  );
}

function bodyOf(dataUrl: string): UploadImageBody {
  const [, type, data = ""] = /^data:([^;]+);base64,(.*)$/.exec(dataUrl) ?? [];
  const contentType = PICTURE_TYPES.find((each) => each === type);
  if (contentType === undefined) throw new Error(`no picture: ${type}`);
  return { contentType, data };
}
