# The collector. Built in one stage; in the other, a user who is not root runs it, and may write its store alone.
#
#   docker build --tag hush-collector .
#   docker run --rm --volume hush:/var/lib/hush hush-collector collection token new --role admin --label me
#   docker run --detach --name collector --volume hush:/var/lib/hush --publish 127.0.0.1:8470:8470 hush-collector

FROM python:3.11-slim AS build
RUN python -m venv /opt/hush
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/hush/bin/pip install --no-cache-dir --disable-pip-version-check '.[collect]'

FROM python:3.11-slim
RUN useradd --system --uid 8470 --user-group --home-dir /var/lib/hush --create-home --shell /usr/sbin/nologin hush
COPY --from=build /opt/hush /opt/hush

# Whatever `hush serve --help` lists can be set so. The port is open within the container; what is published of it is
# for `docker run` to say, and TLS for the proxy before it. A token that is printed would stay in the container's log.
ENV PATH=/opt/hush/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/lib/hush/compiled \
    HUSH_STORE=/var/lib/hush/hush-collector.db \
    HUSH_BACKUPS=/var/lib/hush \
    HUSH_HOST=0.0.0.0 \
    HUSH_PORT=8470 \
    HUSH_FIRST_TOKEN=no

USER hush
WORKDIR /var/lib/hush
VOLUME /var/lib/hush
EXPOSE 8470
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as web; web.urlopen(f'http://127.0.0.1:{os.environ[\"HUSH_PORT\"]}/healthz', timeout=4)"]
ENTRYPOINT ["hush"]
CMD ["serve"]
