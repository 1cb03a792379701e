import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { fieldErrors } from "../api/errors.ts";
import { showDone, useChange } from "../api/queries.ts";
import { useMe } from "../shell/merchants.ts";
import { useTimeZone } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";

const LONGEST_NAME = 200;
const OWN_ZONE = { value: "", label: `Same as this computer (${Intl.DateTimeFormat().resolvedOptions().timeZone})` };
const ZONES = [OWN_ZONE, ...["UTC", ...Intl.supportedValuesOf("timeZone")].map((value) => ({ value, label: value }))];

export function ProfileSection() {
  const me = useMe();
  const [timeZone, setTimeZone] = useTimeZone();
  const form = useForm({
    initialValues: { name: me.name ?? "" },
    validate: {
      name: (name) =>
        name.trim() === "" || [...name].length > LONGEST_NAME
          ? `Enter a name of 1 to ${LONGEST_NAME} characters`
          : null,
    },
  });
  const rename = useChange("updateMe", { onSuccess: () => showDone("Name changed.") });
  return (
    <Section title="Profile" about="Members of your teams can see your name and email address.">
      <form
        onSubmit={form.onSubmit(({ name }) =>
          rename.mutate({ body: { name: name.trim() } }, { onError: (error) => form.setErrors(fieldErrors(error)) }),
        )}
      >
        <Stack>
          <TextInput label="Email address" value={me.email} readOnly description="You sign in with this address." />
          <TextInput label="Name" autoComplete="name" {...form.getInputProps("name")} />
          <Select
            label="Time zone"
            description="The console shows times in this zone. Saved in this browser."
            data={ZONES}
            value={timeZone}
            onChange={(value) => setTimeZone(value ?? "")}
            searchable
            allowDeselect={false}
            limit={50}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={rename.isPending} disabled={form.values.name === (me.name ?? "")}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
