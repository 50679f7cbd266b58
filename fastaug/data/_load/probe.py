"""The first image of a folder, whose header shows whether threads can make those of a batch at once."""

from __future__ import annotations

import contextlib
from typing import Any

from fastaug._batch.task import Drawing
from fastaug._draft.call import Call
from fastaug._draft.draft import Draft
from fastaug._draft.generators import untouched
from fastaug._draft.known import unknown
from fastaug._draft.outline import Outline
from fastaug._draft.pipeline import Pipeline
from fastaug._program.kinds import PIL_IMAGE, TENSOR
from fastaug._sample.pipeline import SamplePipeline
from fastaug._views.views import Views
from fastaug.data._load.sources import Folder
from fastaug.data._load.streams import WorkerStream


class _Asked(Outline):
    """An outline that knows whether a callable that fastaug does not know was given the image."""

    __slots__ = ("asked",)

    def __init__(self, image: Any, call: Call) -> None:
        self.asked = False
        super().__init__(image, call)

    def _begun(self) -> Draft:
        self.asked = True
        return super()._begun()


def is_drafted(folder: Folder, index: Any) -> bool:
    """Whether all that is done to an image of the folder is known, and the result has nothing but its pixels."""
    # Callables of the user's may draw from the process's generators.
    kept = contextlib.nullcontext() if unknown(folder.transform, generator=True) is None else untouched()
    with kept, contextlib.suppress(Exception):  # what is wrong with the sample shows in its turn
        handle, _ = folder[index]
        draws = WorkerStream(0, 0)
        with draws.in_thread():
            return _follows(folder.transform, handle, Call(tape=Drawing()))
    return True


def _follows(pipeline: Pipeline, image: Any, call: Call) -> bool:
    if isinstance(pipeline, Views):
        views = pipeline._begin(image, call)
        pipeline._draft_all(views)
        call.draws.release()
        jobs = views.jobs()
        return not views.settled and jobs is not None and jobs.kind == TENSOR
    if isinstance(pipeline, SamplePipeline):
        sample = pipeline._begin(image, call)
        first = sample.image if sample.alone is not None else None
        pipeline._draft_all(sample)
        call.draws.release()
        # Whatever is done at once, or by a callable of the user's, puts another image into the draft.
        return sample.alone is not None and sample.image is first and sample.kind != PIL_IMAGE
    outline = _Asked(image, call)
    pipeline._draft_all(outline)
    call.draws.release()
    return not outline.asked and outline.kind != PIL_IMAGE
