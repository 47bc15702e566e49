//! Receipts as one column, and inside of an event's payload.

use glass_model::{LeftProcess, Peak, Receipt};

use crate::codec::{Decoder, Encoder};
use crate::error::ReadError;

/// Ports of one process that are kept; nothing that writes has more.
const PORTS_MAX: u64 = 1024;

pub(crate) fn column(receipt: Option<&Receipt>) -> Option<Vec<u8>> {
    let receipt = receipt?;
    let mut encoder = Encoder::default();
    encode(&mut encoder, receipt);
    Some(encoder.finish())
}

pub(crate) fn of_column(blob: Option<&[u8]>) -> Result<Option<Box<Receipt>>, ReadError> {
    let Some(blob) = blob else {
        return Ok(None);
    };
    let mut decoder = Decoder::new(blob);
    let receipt = decode(&mut decoder).filter(|_| decoder.finish().is_some());
    let receipt = receipt.ok_or(ReadError::Corrupt { what: "a receipt" })?;
    Ok(Some(Box::new(receipt)))
}

pub(crate) fn encode(encoder: &mut Encoder, receipt: &Receipt) {
    pair(encoder, receipt.cpu_us);
    match receipt.peak_memory {
        None => encoder.number(0),
        Some(Peak::Exact(bytes)) => encoder.number(1).number(bytes),
        Some(Peak::Seen(bytes)) => encoder.number(2).number(bytes),
    };
    pair(encoder, receipt.io_bytes);
    encoder.number(receipt.left_count.into());
    encoder.number(receipt.left.len() as u64);
    for left in &receipt.left {
        encoder.number(left.pid.into()).text(&left.command);
        encoder.number(left.ports.len() as u64);
        for port in &left.ports {
            encoder.number((*port).into());
        }
    }
}

fn pair(encoder: &mut Encoder, pair: Option<(u64, u64)>) {
    match pair {
        None => encoder.number(0),
        Some((first, second)) => encoder.number(1).number(first).number(second),
    };
}

pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Option<Receipt> {
    let cpu_us = pair_of(decoder)?;
    let peak_memory = match decoder.number()? {
        0 => None,
        1 => Some(Peak::Exact(decoder.number()?)),
        2 => Some(Peak::Seen(decoder.number()?)),
        _ => return None,
    };
    let io_bytes = pair_of(decoder)?;
    let left_count = u32::try_from(decoder.number()?).ok()?;
    let count = decoder.number()?;
    // No capacity is reserved: a damaged count must not make us allocate.
    let left = (0..count)
        .map(|_| left_of(decoder))
        .collect::<Option<_>>()?;
    Some(Receipt {
        cpu_us,
        peak_memory,
        io_bytes,
        left,
        left_count,
    })
}

fn pair_of(decoder: &mut Decoder<'_>) -> Option<Option<(u64, u64)>> {
    match decoder.number()? {
        0 => Some(None),
        1 => Some(Some((decoder.number()?, decoder.number()?))),
        _ => None,
    }
}

fn left_of(decoder: &mut Decoder<'_>) -> Option<LeftProcess> {
    let pid = u32::try_from(decoder.number()?).ok()?;
    let command = decoder.text()?;
    let count = decoder.number()?;
    if count > PORTS_MAX {
        return None;
    }
    let port = |_| u16::try_from(decoder.number()?).ok();
    let ports = (0..count).map(port).collect::<Option<_>>()?;
    Some(LeftProcess {
        pid,
        command,
        ports,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn receipt() -> impl Strategy<Value = Receipt> {
        let left = (
            any::<u32>(),
            ".{0,20}",
            prop::collection::vec(any::<u16>(), 0..4),
        );
        let left = left.prop_map(|(pid, command, ports)| LeftProcess {
            pid,
            command,
            ports,
        });
        let peak = prop_oneof![
            any::<u64>().prop_map(Peak::Exact),
            any::<u64>().prop_map(Peak::Seen),
        ];
        let figures = (any::<Option<(u64, u64)>>(), prop::option::of(peak));
        let rest = (any::<Option<(u64, u64)>>(), any::<u32>());
        (figures, rest, prop::collection::vec(left, 0..4)).prop_map(|(figures, rest, left)| {
            Receipt {
                cpu_us: figures.0,
                peak_memory: figures.1,
                io_bytes: rest.0,
                left,
                left_count: rest.1,
            }
        })
    }

    proptest! {
        #[test]
        fn a_receipt_comes_back_as_it_was(receipt in receipt()) {
            let blob = column(Some(&receipt));
            let read = of_column(blob.as_deref()).expect("ours");
            prop_assert_eq!(read.as_deref(), Some(&receipt));
        }

        #[test]
        fn noise_is_refused_and_never_panics(bytes: Vec<u8>) {
            let _ = of_column(Some(&bytes));
        }
    }
}
