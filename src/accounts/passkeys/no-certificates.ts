// Replaces @peculiar/x509 and reflect-metadata for `@simplewebauthn/server` in the bundle (`[alias]` in wrangler.toml). The library reads
// certificates only in attestation statements, which are refused before it is called (verify-attestation.ts), so these classes are never
// constructed.

class NoCertificate {
  constructor() {
    throw new Error("Attestation statements are refused, so no certificate is read");
  }
}

// The names that the library imports: esbuild fails if one is missing.
export {
  NoCertificate as AuthorityKeyIdentifierExtension,
  NoCertificate as CRLDistributionPointsExtension,
  NoCertificate as SubjectKeyIdentifierExtension,
  NoCertificate as X509Certificate,
  NoCertificate as X509ChainBuilder,
  NoCertificate as X509Crl,
};
