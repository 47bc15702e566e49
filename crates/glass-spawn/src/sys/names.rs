//! How the C library finds names of hosts and users.

use std::ffi::CStr;

/// Where its own services are asked, in place of what the system says.
const OWN_SERVICES: [(&CStr, &CStr); 3] = [
    (c"hosts", c"files dns"),
    (c"passwd", c"files"),
    (c"group", c"files"),
];

/// The entry of the auxiliary vector that says where the loader is.
const AT_BASE: libc::c_ulong = 7;

unsafe extern "C" {
    fn __nss_configure_lookup(
        database: *const libc::c_char,
        services: *const libc::c_char,
    ) -> libc::c_int;
}

/// Where the C library is part of this program, keeps it from loading modules of the
/// system's, which belong to the system's own and may be of another version. To be
/// called before there are threads.
pub fn settle_names() {
    // SAFETY: this only reads what the kernel gave the process.
    if unsafe { libc::getauxval(AT_BASE) } != 0 {
        return;
    }
    for (database, services) in OWN_SERVICES {
        // SAFETY: both are strings that end with a NUL, and are copied. It fails
        // only without memory, and then nothing has changed.
        unsafe { __nss_configure_lookup(database.as_ptr(), services.as_ptr()) };
    }
}
