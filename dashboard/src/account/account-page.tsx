import { Stack } from "@mantine/core";
import { PageHeader } from "../shell/page-header.tsx";
import { ActivitySection } from "./activity-section.tsx";
import { AuthenticatorSection } from "./authenticator-section.tsx";
import { IdentitiesSection } from "./identities-section.tsx";
import { MailedCodesSection } from "./mailed-codes-section.tsx";
import { PasskeysSection } from "./passkeys-section.tsx";
import { ProfileSection } from "./profile-section.tsx";
import { SessionsSection } from "./sessions-section.tsx";

export function AccountPage() {
  return (
    <>
      <PageHeader title="Account" subtitle="Your profile and sign-in methods, for all merchants you work with." />
      <Stack gap="lg" maw={760}>
        <ProfileSection />
        <PasskeysSection />
        <AuthenticatorSection />
        <MailedCodesSection />
        <IdentitiesSection />
        <SessionsSection />
        <ActivitySection />
      </Stack>
    </>
  );
}
