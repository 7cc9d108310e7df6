"""Make OpenCL runtimes that pip installed visible, before pyopencl is imported.

Intel's CPU runtime comes as a wheel whose vendor file holds no usable path, and the OpenCL loader
reads one vendor folder only. So a folder is made in the user's cache that holds the system's
vendor files and one for Intel's library; a user's own OCL_ICD_VENDORS is left alone.
"""

import hashlib
import os
import sys
from pathlib import Path

SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
INTEL_LIBRARY = Path(sys.prefix) / "lib" / "libintelocl.so"


def register() -> None:
    """Point the OpenCL loader at every runtime here; does nothing where nothing is added."""
    if "OCL_ICD_VENDORS" in os.environ or not INTEL_LIBRARY.exists():
        return
    vendors = {path.name: path.read_text() for path in sorted(SYSTEM_VENDORS.glob("*.icd"))}
    vendors["intel-from-pip.icd"] = f"{INTEL_LIBRARY}\n"
    digest = hashlib.sha256(repr(sorted(vendors.items())).encode()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "ligen_py" / f"opencl-vendors-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in vendors.items():
        target = folder / name
        if not target.exists() or target.read_text() != text:
            # Renamed into place: several processes may start at once.
            temporary = folder / f".{name}.{os.getpid()}"
            temporary.write_text(text)
            temporary.replace(target)
    os.environ["OCL_ICD_VENDORS"] = str(folder)
