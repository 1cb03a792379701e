import { Stack } from "@mantine/core";
import { PageHeader } from "../shell/page-header.tsx";
import { InvitationsSection } from "./invitations-section.tsx";
import { LeaveButton } from "./leave-button.tsx";
import { MembersSection } from "./members-section.tsx";
import { RolesSection } from "./roles-section.tsx";
import { SecuritySection } from "./security-section.tsx";

export function TeamPage() {
  return (
    <>
      <PageHeader
        title="Team"
        subtitle="Who works for this merchant, and what they can do."
        actions={<LeaveButton />}
      />
      <Stack gap="lg">
        <MembersSection />
        <InvitationsSection />
        <SecuritySection />
        <RolesSection />
      </Stack>
    </>
  );
}
