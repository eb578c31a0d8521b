//! Whether a chain of certificates leads to a root that is trusted (RFC 5280 §6), at the time of
//! the handshake.

use core::time::Duration;
use flowpin_packet::Timestamp;
use flowpin_parser::{ParserSetup, SetupError};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use std::path::Path;
use std::sync::Arc;
use webpki::{
    ALL_VERIFICATION_ALGS, Cert, EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert,
};

/// The roots.
#[derive(Debug)]
pub(crate) struct Trust {
    anchors: Vec<TrustAnchor<'static>>,
}

impl Trust {
    /// Reads the roots that are asked for, once for all workers.
    pub(crate) fn prepare(setup: &mut ParserSetup) -> Result<(), SetupError> {
        if let Some(path) = setup.parse.roots.clone() {
            let trust = Self::read(&path).map_err(|why| SetupError {
                key: "roots",
                path,
                why,
            })?;
            setup.share(Arc::new(trust));
        }
        Ok(())
    }

    /// Those of a file, or the system's own. What is no certificate among others is passed over.
    fn read(path: &Path) -> Result<Self, String> {
        let certificates: Vec<CertificateDer<'static>> = if path == Path::new("system") {
            rustls_native_certs::load_native_certs().certs
        } else {
            let text = flowpin_disk::read_given_text(path).map_err(|error| error.to_string())?;
            let found: Result<_, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
            found.map_err(|error| format!("is no list of certificates in PEM: {error}"))?
        };
        let anchors = certificates.iter().filter_map(|one| {
            let anchor = anchor_from_trusted_cert(one).ok()?;
            Some(anchor.to_owned())
        });
        let anchors: Vec<_> = anchors.collect();
        if anchors.is_empty() {
            return Err("has no certificate that can be a root".to_owned());
        }
        Ok(Self { anchors })
    }

    /// What is to be said of a chain, the server's own certificate first: `ok`, or why not, in the
    /// words that OpenSSL has for it, and so Zeek. `None` if there is none.
    pub(crate) fn status(&self, chain: &[&[u8]], at: Timestamp) -> Option<&'static str> {
        let (first, others) = chain.split_first()?;
        let first = CertificateDer::from(*first);
        let others: Vec<_> = others
            .iter()
            .map(|one| CertificateDer::from(*one))
            .collect();
        let Ok(own) = EndEntityCert::try_from(&first) else {
            return Some(UNREADABLE);
        };
        let time = UnixTime::since_unix_epoch(Duration::from_secs(at.secs()));
        let usage = KeyUsage::server_auth();
        let verified = own.verify_for_usage(
            ALL_VERIFICATION_ALGS,
            &self.anchors,
            &others,
            time,
            usage,
            None,
            None,
        );
        Some(match verified {
            Ok(_) => "ok",
            Err(Error::UnknownIssuer) => unknown(&own, &others),
            Err(error) => word(&error),
        })
    }
}

/// Why no root was found.
fn unknown(own: &EndEntityCert<'_>, others: &[CertificateDer<'_>]) -> &'static str {
    let is_own_issuer = |one: &Cert<'_>| one.issuer() == one.subject();
    if is_own_issuer(own) {
        return "self-signed certificate";
    }
    let last = others
        .last()
        .and_then(|last| EndEntityCert::try_from(last).ok());
    if last.is_some_and(|last| is_own_issuer(&last)) {
        "self-signed certificate in certificate chain"
    } else {
        "unable to get local issuer certificate"
    }
}

fn word(error: &Error) -> &'static str {
    match error {
        Error::CertExpired { .. } => "certificate has expired",
        Error::CertNotValidYet { .. } => "certificate is not yet valid",
        Error::InvalidSignatureForPublicKey => "certificate signature failure",
        Error::EndEntityUsedAsCa | Error::CaUsedAsEndEntity => "invalid CA certificate",
        Error::PathLenConstraintViolated => "path length constraint exceeded",
        Error::NameConstraintViolation => "permitted subtree violation",
        Error::RequiredEkuNotFoundContext(_) => "unsuitable certificate purpose",
        Error::UnsupportedCriticalExtension => "unhandled critical extension",
        Error::UnsupportedSignatureAlgorithmContext(_)
        | Error::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            "signature algorithm is not supported"
        }
        Error::MaximumSignatureChecksExceeded
        | Error::MaximumPathBuildCallsExceeded
        | Error::MaximumPathDepthExceeded => "certificate chain too long",
        _ => UNREADABLE,
    }
}

const UNREADABLE: &str = "certificate cannot be read";

#[cfg(test)]
mod tests {
    use super::Trust;
    use flowpin_packet::Timestamp;
    use rcgen::{
        BasicConstraints, Certificate, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair,
        date_time_ymd,
    };

    struct Issued {
        certificate: Certificate,
        key: KeyPair,
    }

    impl Issued {
        fn der(&self) -> &[u8] {
            self.certificate.der()
        }
    }

    /// Valid in 2020.
    fn issue(name: &str, ca: bool, by: Option<&Issued>) -> Issued {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        if ca {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        } else {
            let client = name.starts_with("client");
            params.extended_key_usages = vec![if client {
                ExtendedKeyUsagePurpose::ClientAuth
            } else {
                ExtendedKeyUsagePurpose::ServerAuth
            }];
        }
        let key = KeyPair::generate().unwrap();
        let certificate = match by {
            None => params.self_signed(&key),
            Some(by) => params.signed_by(&key, &by.certificate, &by.key),
        };
        let certificate = certificate.unwrap();
        Issued { certificate, key }
    }

    fn roots(of: &[&Issued]) -> Result<Trust, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = of.iter().map(|one| one.certificate.pem()).collect();
        std::fs::write(file.path(), text).unwrap();
        Trust::read(file.path())
    }

    /// OpenSSL's words (`openssl verify`), which Zeek's `validation_status` has.
    #[test]
    fn a_chain_leads_to_a_root_or_it_is_told_why_not() {
        let root = issue("root", true, None);
        let middle = issue("middle", true, Some(&root));
        let own = issue("a.example", false, Some(&middle));
        let client = issue("client.example", false, Some(&root));
        let stranger = issue("stranger", true, None);
        let foreign = issue("b.example", false, Some(&stranger));
        let alone = issue("c.example", false, None);
        let trust = roots(&[&root]).unwrap();
        let at = |year: u64| Timestamp((year - 1970) * 31_557_600 * 1_000_000_000);
        let mid_2020 = Timestamp(at(2020).0 + 15_000_000_000_000_000);
        let status = |chain: &[&Issued], time| {
            let chain: Vec<_> = chain.iter().map(|one| one.der()).collect();
            trust.status(&chain, time).unwrap()
        };
        assert_eq!(status(&[&own, &middle], mid_2020), "ok");
        // The root may be sent, too.
        assert_eq!(status(&[&own, &middle, &root], mid_2020), "ok");
        assert_eq!(
            status(&[&own, &middle], at(2022)),
            "certificate has expired"
        );
        assert_eq!(
            status(&[&own, &middle], at(2019)),
            "certificate is not yet valid"
        );
        assert_eq!(
            status(&[&own], mid_2020),
            "unable to get local issuer certificate"
        );
        assert_eq!(status(&[&alone], mid_2020), "self-signed certificate");
        let chain = status(&[&foreign, &stranger], mid_2020);
        assert_eq!(chain, "self-signed certificate in certificate chain");
        assert_eq!(
            status(&[&client], mid_2020),
            "unsuitable certificate purpose"
        );
        let mut broken = own.der().to_vec();
        *broken.last_mut().unwrap() ^= 1;
        let broken = trust.status(&[&broken, middle.der()], mid_2020);
        assert_eq!(broken, Some("certificate signature failure"));
        assert_eq!(
            trust.status(&[b"no certificate"], mid_2020),
            Some("certificate cannot be read")
        );
        assert_eq!(trust.status(&[], mid_2020), None);
    }

    #[test]
    fn files_without_roots_are_refused() {
        assert!(roots(&[]).unwrap_err().contains("no certificate"));
        let missing = Trust::read("/no/such/file".as_ref()).unwrap_err();
        assert!(missing.contains("o such file"), "{missing}");
    }
}
