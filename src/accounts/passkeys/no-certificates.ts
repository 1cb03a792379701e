// In the bundle, what `@simplewebauthn/server` gets in place of @peculiar/x509 and reflect-metadata (`[alias]` in wrangler.toml). The library reads
// certificates in attestation statements alone, which are refused before it is asked (verify-attestation.ts), so none is ever made.

class NoCertificate {
  constructor() {
    throw new Error("Attestation statements are refused, so no certificate is read");
  }
}

// What the library imports: esbuild refuses to bundle where a name is missing.
export {
  NoCertificate as AuthorityKeyIdentifierExtension,
  NoCertificate as CRLDistributionPointsExtension,
  NoCertificate as SubjectKeyIdentifierExtension,
  NoCertificate as X509Certificate,
  NoCertificate as X509ChainBuilder,
  NoCertificate as X509Crl,
};
