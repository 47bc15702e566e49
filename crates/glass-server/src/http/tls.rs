//! TLS with a certificate that somebody gave.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

/// The protocols that we speak inside, the better one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Certificates of a chain that are read.
const CHAIN_MAX: usize = 16;

/// What a certificate is served with. Cheap to clone.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file has nothing that can be used, or cannot be read.
    #[error("{path} is no PEM file that can be used")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: pem::Error,
    },
    /// There is no certificate in its file.
    #[error("{0} has no certificate in it")]
    Empty(PathBuf),
    /// Certificate and key do not belong together, or are of a kind that is not
    /// known.
    #[error("the certificate cannot be used with its key")]
    Pair(#[from] rustls::Error),
}

impl Tls {
    /// Reads a certificate (with those that vouch for it) and its key, as PEM.
    pub fn load(certificate: &Path, key: &Path) -> Result<Tls, TlsError> {
        let file = |path: &Path| {
            let path = path.to_owned();
            move |source| TlsError::File { path, source }
        };
        let chain = CertificateDer::pem_file_iter(certificate).map_err(file(certificate))?;
        let chain: Result<Vec<_>, _> = chain.take(CHAIN_MAX).collect();
        let chain = chain.map_err(file(certificate))?;
        if chain.is_empty() {
            return Err(TlsError::Empty(certificate.to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(file(key))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }

    /// Agrees on keys with a client.
    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}
