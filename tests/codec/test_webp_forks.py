"""Children that are forked while other threads decode WebP files decode such files, too."""

from __future__ import annotations

import pytest

from fastaug import _C
from support.processes import python
from support.scale import cases

CODE = """
import io, os, sys, threading, time, warnings
import numpy as np
from PIL import Image
from fastaug import _C
from fastaug.io import lazy

warnings.simplefilter("ignore", DeprecationWarning)  # Python's, of forks in a process of several threads
file = io.BytesIO()
Image.new("RGB", (8, 8), "navy").save(file, "WEBP")
data = file.getvalue()
pixels = [np.empty((8, 8, 3), np.uint8) for _ in range(4)]
stop = False

def decode(target):
    # Many images in one call, without Python's lock.
    encoded = _C.Encoded(data, None, None)
    jobs = [(b"", encoded.source(3), _C.into_array(target)) for _ in range(500)]
    while not stop:
        _C.run(jobs)

threads = [threading.Thread(target=decode, args=(target,)) for target in pixels[1:]]
for thread in threads:
    thread.start()
late = 0
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        _C.run([(b"", _C.Encoded(data, None, None).source(3), _C.into_array(pixels[0]))])
        os._exit(0)
    deadline = time.monotonic() + 20
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            late += 1
            break
        time.sleep(0.001)
    if late:
        break
stop = True
for thread in threads:
    thread.join()
print("late", late)
"""


@pytest.mark.skipif(_C.webp_decoder() == "Pillow", reason="this build has no libwebp")
def test_forks_during_decoding() -> None:
    done = python(["-c", CODE, str(cases(150))])
    assert done.returncode == 0 and done.stdout == "late 0\n", done.stdout + done.stderr
