# scripts/pin-images writes the digests of the images.
# The pages are built with Node; the service runs on Python, and on Node to draw images.
FROM node:22.23.2-slim@sha256:d649c27dae7ba0137b3cef5dd75baa422c08dc3d9e3fc0c23dfb172dc3cc6436 AS frontend
WORKDIR /app/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci
COPY frontend/ ./
RUN npm run build

# The agent as the files that the service offers for download.
FROM python:3.11.15-slim@sha256:90744cff8f32887f075c47d747a173ff333e9e98801667af93c357fa9f5e28ff AS agent
WORKDIR /app
COPY agents/ agents/
RUN python agents/build_pyz.py agents/dist/loadsheet.pyz --wheel

FROM python:3.11.15-slim@sha256:90744cff8f32887f075c47d747a173ff333e9e98801667af93c357fa9f5e28ff AS service
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data
RUN useradd --system --create-home --uid 10001 loadsheet \
    && install --directory --owner=loadsheet --mode=0700 /data /scratch /backup
WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements.txt
COPY manage.py ./
COPY backend/ backend/
# backend/untrusted/secrets/redaction.py and backend/formats/archive_texts.py are links to them.
COPY agents/src/loadsheet_agent/upload/redaction.py agents/src/loadsheet_agent/upload/redaction.py
COPY agents/src/loadsheet_agent/imports/archive_texts.py agents/src/loadsheet_agent/imports/archive_texts.py
# The image is read-only where it runs.
RUN python -m compileall -q backend
COPY docs/ docs/
COPY integrations/ integrations/
COPY frontend/templates/ frontend/templates/
COPY --from=frontend /app/frontend/dist/ frontend/dist/
COPY --from=agent /app/agents/dist/ agents/dist/
# What draws images: Node, the program, its canvas and its font.
COPY --from=frontend /usr/local/bin/node /usr/local/bin/node
COPY --from=frontend /app/frontend/images/ frontend/images/
COPY --from=frontend /app/frontend/node_modules/@napi-rs/ frontend/node_modules/@napi-rs/
COPY --from=frontend /app/frontend/node_modules/dejavu-fonts-ttf/ frontend/node_modules/dejavu-fonts-ttf/
USER loadsheet
VOLUME /data
EXPOSE 8000
# The commands of all processes: backend/config/site/commands.py.
CMD ["env", "MALLOC_ARENA_MAX=2", "gunicorn", "--config=python:backend.config.serving.web_server", "--workers=1", "--bind=0.0.0.0:8000"]
