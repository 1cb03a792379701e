import { ColorInput, Grid, Stack, TextInput } from "@mantine/core";
import { type ComponentProps, useState } from "react";
import type { Settings } from "../api/operations.ts";
import type { Inputs } from "../shell/form.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { CheckoutPreview } from "./checkout-preview.tsx";
import { LogoField } from "./logo-field.tsx";
import { SettingsForm } from "./settings-form.tsx";

const LONGEST = { name: 100, url: 2_048 } as const;
const SWATCHES = ["#2f5bd8", "#0f766e", "#166534", "#b45309", "#b91c1c", "#7c3aed", "#be185d", "#1f2937"];

interface Values {
  readonly name: string;
  readonly color: string;
  readonly supportUrl: string;
  readonly logo: string | null;
}

export function BrandSection({ settings }: { readonly settings: Settings }) {
  const merchant = useMerchant();
  const { name, color, supportUrl, logo } = settings.brand;
  const [logoUrl, setLogoUrl] = useState(settings.brand.logoUrl);
  return (
    <SettingsForm<Values>
      part="brand"
      about="How customers see you on the payment page and in receipts and emails."
      initial={{ name: name ?? "", color: color ?? "", supportUrl: supportUrl ?? "", logo }}
      validate={{
        color: (value) => (value === "" || /^#[0-9a-f]{6}$/i.test(value) ? null : "Enter a colour such as #0f766e"),
        supportUrl: (value) =>
          value.trim() === "" || /^https:\/\/./i.test(value.trim())
            ? null
            : "Enter a URL that starts with https://, or leave this empty",
      }}
      bodyOf={(values) => ({
        brand: {
          name: values.name.trim() || null,
          color: values.color || null,
          supportUrl: values.supportUrl.trim() || null,
          logo: values.logo,
        },
      })}
    >
      {(form) => (
        <Grid gap="xl">
          <Grid.Col span={{ base: 12, md: 6 }}>
            <BrandFields
              form={form}
              logoUrl={logoUrl}
              onLogo={(image) => {
                setLogoUrl(image?.url ?? null);
                form.setFieldValue("logo", image?.name ?? null);
              }}
            />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <CheckoutPreview
              name={form.values.name.trim() || merchant.name}
              color={form.values.color || null}
              logoUrl={logoUrl}
              hasSupport={form.values.supportUrl.trim() !== ""}
            />
          </Grid.Col>
        </Grid>
      )}
    </SettingsForm>
  );
}

interface FieldsProps {
  readonly form: Inputs<keyof Values>;
  readonly logoUrl: string | null;
  readonly onLogo: ComponentProps<typeof LogoField>["onChanged"];
}

function BrandFields({ form, logoUrl, onLogo }: FieldsProps) {
  const merchant = useMerchant();
  return (
    <Stack>
      <TextInput label="Name" placeholder={merchant.name} maxLength={LONGEST.name} {...form.getInputProps("name")} />
      <ColorInput
        label="Colour"
        description="Colour of the main button. Its text stays readable."
        placeholder="#2f5bd8"
        swatches={SWATCHES}
        withEyeDropper={false}
        // Invalid text stays and is marked, instead of reverting to the last colour.
        fixOnBlur={false}
        {...form.getInputProps("color")}
      />
      <LogoField logoUrl={logoUrl} onChanged={onLogo} />
      <TextInput
        label="Support page or contact"
        placeholder="https://"
        type="url"
        maxLength={LONGEST.url}
        {...form.getInputProps("supportUrl")}
      />
    </Stack>
  );
}
